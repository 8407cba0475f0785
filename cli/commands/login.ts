import { ApiError, portalClient, type PortalClient } from '@granary/client';
import { singleErrors } from '@granary/contract';
import type { GranaryCommand } from '../command.ts';
import { portalUrl, readCredentials, removeCredentials, writeCredentials } from '../credentials.ts';
import { CommandFailure, exitCodes, usageFailure } from '../exit.ts';
import { addPasswordAdvice } from '../password.ts';
import { ensureTrusted, fetchFor } from '../trust.ts';
import { askLine, askSecretly, isInteractive, readSecret, print, printToStderr, type Terminal } from '../terminal.ts';

interface LoginOptions {
  readonly url?: string;
  readonly user?: string;
  readonly passwordStdin?: true;
  readonly code?: string;
  readonly trust?: string;
}

const USER_DEFAULT = 'admin';
/** What the error says of a user who has to send a code. */
const CODE_NEEDED = singleErrors.code_needed.message.replace(/^.*\} /, '');

export function addLogin(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('login');
  command
    .description('Sign in at a portal and keep the token for the next commands')
    .option('--url <url>', 'Address of the portal (also GRANARY_URL)')
    .option('--user <name>', 'Who you are')
    .option('--password-stdin', 'Read the password from standard input (also GRANARY_PASSWORD)')
    .option('--code <digits>', 'Code of the authenticator app, where you sign in with two factors')
    .option('--trust <sha256>', 'Trust the certificate authority with this fingerprint without asking')
    .action(async (options: LoginOptions) => login(options, terminal));
  addPasswordAdvice(command);
  program
    .command('logout')
    .description('Forget the token that `login` kept')
    .action(() => logout(terminal));
}

async function login(options: LoginOptions, terminal: Terminal): Promise<void> {
  const url = portalUrl(terminal.env, options.url);
  warnIfOpen(terminal, url);
  await ensureTrusted(terminal, { url, fingerprint: options.trust });
  const username = options.user ?? (await askUser(terminal));
  const password = await passwordFrom(options, terminal);
  try {
    const { data } = await tokenOf(
      portalClient({ url, ...fetchFor(terminal.env, url) }),
      { username, password },
      options,
      terminal,
    );
    const file = writeCredentials(terminal.env, { url, token: data.token, username });
    print(terminal, `Signed in at ${url} as ${username}; the token is kept in ${file}.`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isUnknown = error.message === singleErrors.invalid_credentials.message;
    const message = isUnknown ? `The portal at ${url} does not know this user and password.` : error.message;
    throw new CommandFailure(exitCodes.notAllowed, message, { cause: error });
  }
}

/** Asks for the code of those who sign in with two factors. */
async function tokenOf(
  portal: PortalClient,
  credentials: { readonly username: string; readonly password: string },
  { code }: LoginOptions,
  terminal: Terminal,
) {
  try {
    return await portal.tokens.get({ ...credentials, code });
  } catch (error) {
    const isAsked = error instanceof ApiError && error.message.includes(CODE_NEEDED);
    if (!isAsked || code !== undefined || !isInteractive(terminal)) throw error;
    return portal.tokens.get({ ...credentials, code: (await askLine(terminal, 'Code: ')).trim() });
  }
}

function logout(terminal: Terminal): void {
  const { url } = readCredentials(terminal.env) ?? {};
  removeCredentials(terminal.env);
  if (url === undefined) print(terminal, 'You were not signed in.');
  else print(terminal, `Signed out of ${url}. The token itself works until \`granary tokens reset\`.`);
}

async function askUser(terminal: Terminal): Promise<string> {
  if (!isInteractive(terminal)) throw usageFailure('Who signs in? Name the user with --user.');
  return (await askLine(terminal, `User (${USER_DEFAULT}): `)).trim() || USER_DEFAULT;
}

async function passwordFrom({ passwordStdin }: LoginOptions, terminal: Terminal): Promise<string> {
  if (passwordStdin) return readSecret(terminal, 'Password: ');
  const given = terminal.env['GRANARY_PASSWORD'];
  if (given) return given;
  if (isInteractive(terminal)) return askSecretly(terminal, 'Password: ');
  throw usageFailure('The password is missing: pipe it in with --password-stdin, or set GRANARY_PASSWORD.');
}

function warnIfOpen(terminal: Terminal, url: string): void {
  const { protocol, hostname } = new URL(url);
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  if (protocol === 'http:' && !isLocal)
    printToStderr(terminal, `Note: ${url} is not encrypted; others on the network can read the password.`);
}

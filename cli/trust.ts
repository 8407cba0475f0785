import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { certificateFingerprint, probeChain, secureFetch, splitChain } from '@granary/kernel/tls';
import { CommandFailure, exitCodes, usageFailure } from './exit.ts';
import { askLine, isInteractive, printToStderr, type Terminal } from './terminal.ts';

type Environment = Terminal['env'];

const PROBE_MS_MAX = 5_000;

/** What OpenSSL calls a chain that ends at no authority it trusts. */
const UNKNOWN_AUTHORITY = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

export function isUnknownAuthority(code: string): boolean {
  return UNKNOWN_AUTHORITY.has(code);
}

/** How a command reaches an address: over TLS by the authority of `--ca`, by the one trusted before, or by those of the system. */
export function fetchFor(env: Environment, url: string): { readonly fetch?: typeof fetch } {
  if (!url.startsWith('https:')) return {};
  return { fetch: secureFetch({ trusted: trustedFor(env, url) }) };
}

function trustedFor(env: Environment, url: string): string[] | undefined {
  const file = env['GRANARY_CA'];
  if (file) return [...getCACertificates('default'), ...readAuthorities(file)];
  const pinned = readPins(env)[originOf(url)];
  return pinned === undefined ? undefined : [pinned];
}

function readAuthorities(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usageFailure(`--ca: ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  const certificates = splitChain(text);
  if (certificates.length === 0) throw usageFailure(`--ca: ${file} holds no certificate in PEM form.`);
  return certificates;
}

interface Trusting {
  readonly url: string;
  /** The fingerprint that may be trusted without asking. */
  readonly fingerprint?: string | undefined;
  /** The URL of the service that named this one: its authority is trusted here as well. */
  readonly fingerprintFrom?: string | undefined;
}

/** Before a password is sent: an authority that is not known yet is shown, and trusted from then on if that is wanted. */
export async function ensureTrusted(
  terminal: Terminal,
  { url, fingerprint, fingerprintFrom }: Trusting,
): Promise<void> {
  const { env } = terminal;
  if (!url.startsWith('https:')) return;
  const pins = readPins(env);
  const known = fingerprintFrom === undefined ? undefined : pins[originOf(fingerprintFrom)];
  if (known !== undefined && pins[originOf(url)] === undefined && !env['GRANARY_CA']) keepPin(env, url, known);
  if (!(await isRefused(env, url))) return;
  const [shown] = (await shownBy(url)).slice(-1);
  if (shown === undefined) return;
  const seen = certificateFingerprint(shown);
  if (env['GRANARY_CA'] && fingerprint === undefined)
    throw untrusted(`The certificate of ${url} is not of an authority in ${env['GRANARY_CA']} (it shows ${seen}).`);
  await decide(terminal, { url, fingerprint }, seen);
  keepPin(env, url, shown);
  printToStderr(terminal, `The authority ${seen} is trusted for ${url} from now on.`);
}

async function decide(terminal: Terminal, { url, fingerprint }: Trusting, seen: string): Promise<void> {
  if (fingerprint !== undefined) {
    if (plain(fingerprint) === plain(seen)) return;
    throw untrusted(`${url} shows the authority ${seen}, not ${fingerprint}; nothing was sent.`);
  }
  const before = readPins(terminal.env)[originOf(url)];
  if (before !== undefined)
    throw untrusted(
      `The authority of ${url} changed from ${certificateFingerprint(before)} to ${seen}. ` +
        `The connection may be intercepted; if the operator changed it, say --trust ${seen}.`,
    );
  const how = `Compare it with what \`granary up\` printed there; then say --trust ${seen}, or give --ca FILE`;
  if (!isInteractive(terminal)) throw untrusted(`${url} is of an authority you do not know: SHA-256 ${seen}. ${how}.`);
  printToStderr(terminal, `${url} is of an authority you do not know yet. Its SHA-256 fingerprint is`);
  printToStderr(terminal, `  ${seen}`);
  printToStderr(terminal, 'Compare it with what Granary printed when it started there.');
  const answer = await askLine(terminal, 'Trust it from now on? (yes/no): ');
  if (!/^y(es)?$/i.test(answer.trim())) throw untrusted('It is not trusted; nothing was sent.');
}

async function isRefused(env: Environment, url: string): Promise<boolean> {
  try {
    await secureFetch({ trusted: trustedFor(env, url) })(`${url}/healthz`, {
      signal: AbortSignal.timeout(PROBE_MS_MAX),
    });
    return false;
  } catch (error) {
    return isUnknownAuthority((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** The certificates an address shows; none when it does not speak TLS. */
export async function shownBy(url: string): Promise<string[]> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  try {
    return await probeChain({
      host,
      port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
      timeoutMs: PROBE_MS_MAX,
    });
  } catch {
    return [];
  }
}

function untrusted(message: string): CommandFailure {
  return new CommandFailure(exitCodes.noConnection, message);
}

function plain(fingerprint: string): string {
  return fingerprint.replaceAll(/[:\s]/g, '').toUpperCase();
}

function originOf(url: string): string {
  return new URL(url).origin;
}

/** Where the command line keeps what it remembers. */
export function configFile(env: Environment, name: string): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? homedir(), '.config'), 'granary', name);
}

function pinsFile(env: Environment): string {
  return configFile(env, 'authorities.json');
}

/** By origin: the certificate, in PEM, of the authority that is trusted there. */
function readPins(env: Environment): Readonly<Record<string, string>> {
  const file = pinsFile(env);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new CommandFailure(exitCodes.failed, `${file} cannot be read; remove it and sign in again.`);
  }
}

function keepPin(env: Environment, url: string, certificate: string): void {
  const file = pinsFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  const pins = { ...readPins(env), [originOf(url)]: certificate };
  writeFileSync(draft, `${JSON.stringify(pins, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

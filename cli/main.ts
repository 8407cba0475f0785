import process from 'node:process';
import { portalApi } from '@granary/contract/portal';
import { GranaryCommand } from './command.ts';
import { addArray } from './commands/array.ts';
import { addCloud } from './commands/cloud.ts';
import { addCompletion } from './commands/completion.ts';
import { addLogin } from './commands/login.ts';
import { addObjects } from './commands/objects.ts';
import { addPortal } from './commands/portal.ts';
import { addStatus } from './commands/status.ts';
import { addUp } from './commands/up.ts';
import { addBackup } from './recovery/backup.ts';
import { addRestore } from './recovery/restore.ts';
import { addRestoreBooks } from './recovery/restore-books.ts';
import { addVolumeServer } from './commands/volume-server.ts';
import { portalConnection } from './credentials.ts';
import { addApi, type Target } from './derived/commands.ts';
import { exitCodes, type ExitCode } from './exit.ts';
import { explainConnection } from './output/connection.ts';
import { reportError } from './output/errors.ts';
import { widthOf, type Terminal } from './terminal.ts';
import { version } from './version.ts';

/** Runs one command line and returns the exit code. */
export async function main(args: readonly string[], terminal: Terminal = process): Promise<ExitCode> {
  leaveQuietlyWhenUnread(terminal);
  try {
    await createProgram(withAuthority(terminal, args)).parseAsync(args, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    return reportError(terminal, await explainConnection(error), args.includes('--debug'));
  }
}

export function createProgram(terminal: Terminal): GranaryCommand {
  const program = new GranaryCommand('granary');
  program
    .description('Storage as a service that anyone can run.')
    .version(version)
    .option('--debug', 'Show where an error came from')
    .option('--ca <file>', 'Certificates (PEM) of the authorities to trust over TLS (also GRANARY_CA)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'granary: ')),
      getOutHelpWidth: () => widthOf(terminal),
      getErrHelpWidth: () => widthOf(terminal),
    })
    .addHelpText('after', '\n`granary <group> --help` and `granary <group> <command> --help` say more.');
  program.commandsGroup('Run Granary:');
  addUp(program, terminal);
  addPortal(program, terminal);
  addCloud(program, terminal);
  addVolumeServer(program, terminal);
  program.commandsGroup('Back up and restore:');
  addBackup(program, terminal);
  addRestore(program, terminal);
  addRestoreBooks(program, terminal);
  program.commandsGroup('Sign in:');
  addLogin(program, terminal);
  program.commandsGroup('Watch:');
  addStatus(program, terminal);
  program.commandsGroup('Use the portal:');
  addApi(program, portalTarget(terminal), terminal);
  program.commandsGroup('Use one array:');
  addArray(program, terminal);
  addObjects(program, terminal);
  program.commandsGroup('In the shell:');
  addCompletion(program, terminal);
  return program;
}

/** `--ca` stands wherever it is typed, and means what the variable means. */
function withAuthority(terminal: Terminal, args: readonly string[]): Terminal {
  const at = args.findIndex((arg) => arg === '--ca' || arg.startsWith('--ca='));
  const file = args[at]?.startsWith('--ca=') ? args[at].slice('--ca='.length) : args[at + 1];
  if (at === -1 || file === undefined) return terminal;
  const { stdin, stdout, stderr, env } = terminal;
  return { stdin, stdout, stderr, env: { ...env, GRANARY_CA: file } };
}

function portalTarget({ env }: Terminal): Target {
  return {
    api: portalApi,
    aliases: { users: 'user' },
    connect: ({ access }, { url }) => portalConnection(env, { url, signedIn: access.roles !== 'anyone' }),
  };
}

/** `granary arrays list | head -1` is no error. */
function leaveQuietlyWhenUnread({ stdout }: Terminal): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    throw error;
  });
}

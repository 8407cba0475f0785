import { arrayApi } from '@granary/contract/array';
import { addArrayCheck } from '../array/check.ts';
import { loginToArray, type ArrayLoginOptions } from '../array/login.ts';
import { arrayConnection } from '../array/place.ts';
import type { GranaryCommand } from '../command.ts';
import { addApi, type Target } from '../derived/commands.ts';
import type { Terminal } from '../terminal.ts';

/** `granary array …`: everything one array can do. */
export function addArray(program: GranaryCommand, terminal: Terminal): void {
  const array = program.command('array');
  array.description('Use one storage array: drives, pools, volumes, servers, snapshots, mirrors');
  array.summary('drives, pools, volumes, servers, snapshots, mirrors of one storage array');
  array.commandsGroup('Sign in:');
  array
    .command('login [name]')
    .description('Sign in to an array of yours and keep its key; it is then meant where no --array is given')
    .option('--url <url>', 'Address of the array, where no portal is asked')
    .option('--user <name>', 'Who you are there (default: who you are at the portal)')
    .option('--password-stdin', 'Read the password from standard input (also GRANARY_PASSWORD)')
    .action(async (name: string | undefined, options: ArrayLoginOptions) => loginToArray(name, options, terminal));
  array.commandsGroup('Look after arrays of this machine:');
  addArrayCheck(array, terminal);
  array.commandsGroup('Use the array:');
  addApi(array, arrayTarget(terminal), terminal);
}

function arrayTarget({ env }: Terminal): Target {
  return {
    api: arrayApi,
    prefix: 'array',
    places: [
      ['--array <name>', 'Name of the array (also GRANARY_ARRAY; default: the one signed in to last)'],
      ['--url <url>', 'Address of the array (also GRANARY_ARRAY_URL)'],
    ],
    connect: ({ access }, options) => arrayConnection(env, { ...options, signedIn: access.roles !== 'anyone' }),
  };
}

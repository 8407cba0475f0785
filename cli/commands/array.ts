import { arrayApi } from '@granary/contract/array';
import { addArrayCheck } from '../array/check.ts';
import { addArrayLogin } from '../array/login.ts';
import { targetOf } from '../array/target.ts';
import type { GranaryCommand } from '../command.ts';
import { addApi } from '../derived/commands.ts';
import type { Terminal } from '../terminal.ts';

/** `granary array …`: everything one array can do. */
export function addArray(program: GranaryCommand, terminal: Terminal): void {
  const array = program.command('array');
  array.description('Use one storage array: drives, pools, volumes, servers, snapshots, mirrors');
  array.summary('drives, pools, volumes, servers, snapshots, mirrors of one storage array');
  array.commandsGroup('Sign in:');
  addArrayLogin(array, 'storage_array', terminal);
  array.commandsGroup('Look after arrays of this machine:');
  addArrayCheck(array, terminal);
  array.commandsGroup('Use the array:');
  addApi(array, targetOf('storage_array', arrayApi, terminal), terminal);
}

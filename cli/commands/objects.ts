import { objectsApi } from '@granary/contract/objects';
import { addArrayLogin } from '../array/login.ts';
import { targetOf } from '../array/target.ts';
import type { GranaryCommand } from '../command.ts';
import { addApi } from '../derived/commands.ts';
import { addObjectsCheck } from '../objects/check.ts';
import type { Terminal } from '../terminal.ts';

/** `granary objects …`: everything one object storage array can do. */
export function addObjects(program: GranaryCommand, terminal: Terminal): void {
  const objects = program.command('objects');
  objects.description('Use one object storage array: accounts, users, policies, drives, metering, usage, settings');
  objects.summary('accounts, users, policies, metering, usage, settings of one object storage array');
  objects.commandsGroup('Sign in:');
  addArrayLogin(objects, 'object_storage', terminal);
  objects.commandsGroup('Look after object storage of this machine:');
  addObjectsCheck(objects, terminal);
  objects.commandsGroup('Use the array:');
  addApi(objects, targetOf('object_storage', objectsApi, terminal), terminal);
}

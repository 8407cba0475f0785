import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations, pathParams, type Api, type Operation } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { GranaryCommand } from '../command.ts';
import { createProgram } from '../main.ts';
import { FakeTerminal } from '../testing/terminal.ts';
import { addApi, OWN_OPTIONS } from './commands.ts';
import { exampleOf } from './example.ts';
import { commandName, kebab, optionFlag } from '../names.ts';
import { optionParams } from './options.ts';
import { inCommands } from '../output/wording.ts';

const apis: readonly Api[] = [portalApi, arrayApi, objectsApi];

function commandsOf(api: Api): GranaryCommand {
  const parent = new GranaryCommand('granary');
  addApi(parent, { api, connect: () => ({ url: 'http://127.0.0.1:1' }) }, new FakeTerminal());
  return parent;
}

/** Of the portal: those of `granary array` and `granary objects` are APIs of their own. */
function leavesOf(program: GranaryCommand): string[] {
  const groups = program.commands.filter((group) => !['array', 'objects'].includes(group.name()));
  return groups.flatMap((group) => group.commands.map((command) => `${group.name()} ${command.name()}`));
}

test('names are in the form of the command line', () => {
  assert.equal(kebab('driveTypes'), 'drive-types');
  assert.equal(kebab('flash_cache_capacity'), 'flash-cache-capacity');
  assert.equal(kebab('connectVia'), 'connect-via');
  assert.equal(kebab('resetS3Secret'), 'reset-s3-secret');
});

test('every portal operation has a command, and no two share one', () => {
  const names = leavesOf(createProgram(new FakeTerminal()));
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual([...names].sort(), operations(portalApi).map(commandName).sort());
});

test('the same holds for arrays and object storage', () => {
  for (const api of apis) {
    const names = leavesOf(commandsOf(api));
    assert.equal(new Set(names).size, names.length, api.name);
    assert.equal(names.length, operations(api).length, api.name);
  }
});

test('a group never hides a command of our own', () => {
  const own = createProgram(new FakeTerminal()).commands.flatMap((command) => [command.name(), ...command.aliases()]);
  assert.equal(new Set(own).size, own.length);
});

test('no option of an endpoint hides another, or one that every command has', () => {
  for (const api of apis) {
    for (const { id, endpoint } of operations(api)) {
      const flags = [...optionParams(endpoint).map(([name]) => optionFlag(name)), ...OWN_OPTIONS];
      assert.equal(new Set(flags).size, flags.length, `${api.name} ${id}`);
      assert.ok(!flags.some((flag) => flag.startsWith('--no-')), `${api.name} ${id}`);
    }
  }
});

test("every command's help has its summary, its arguments, its options and an example", () => {
  for (const api of apis) {
    const program = commandsOf(api);
    for (const operation of operations(api)) {
      const { endpoint } = operation;
      const group = program.commands.find((command) => command.name() === kebab(operation.group));
      const command = group?.commands.find((one) => one.name() === kebab(operation.name));
      let help = '';
      command?.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 10_000 }).outputHelp();
      assert.ok(help.includes(inCommands(api, endpoint.summary)), operation.id);
      for (const name of pathParams(endpoint.path)) assert.ok(help.includes(`<${kebab(name)}>`), operation.id);
      for (const [name, param] of optionParams(endpoint)) {
        assert.ok(help.includes(`  ${optionFlag(name)}`), `${operation.id} ${name}`);
        assert.ok(help.includes(inCommands(api, param.description)), `${operation.id} ${name}`);
      }
      assert.ok(help.includes(`Example:\n  granary ${commandName(operation)}`), operation.id);
    }
  }
});

test('help says what is required, what is allowed and what stands in', () => {
  const program = createProgram(new FakeTerminal());
  const create = program.commands
    .find((one) => one.name() === 'arrays')
    ?.commands.find((one) => one.name() === 'create');
  const help = create?.helpInformation().replace(/\s+/g, ' ') ?? '';
  assert.match(help, /--name <text> Name of the array \(required\)/);
  assert.match(help, /one of: storage_array, object_storage; default: storage_array/);
  assert.match(help, /--moderate .*\(--no-moderate for false; default: false\)/);
  assert.match(help, /--wait Wait until it is created/);
});

test('examples can be typed in: with what some orders require, and without secrets on the command line', () => {
  const example = (id: string) => exampleOf(operations(portalApi).find((one) => one.id === id) as Operation);
  assert.match(example('arrays.create'), /--name tank .*--engine engine_\w+ .*--drives SSD_10GB=2/);
  assert.equal(example('users.create'), 'granary users create --username ann --password -');
});

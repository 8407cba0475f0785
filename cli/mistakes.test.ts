import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakePortal, refused, runCommand } from './testing/portal.ts';

const typed = async (line: string) => {
  const { code, out, err } = await runCommand(line.split(' '), {
    GRANARY_URL: 'http://127.0.0.1:9',
    GRANARY_TOKEN: 'tok',
  });
  assert.deepEqual([code, out], [2, ''], line);
  return err;
};

test('what stands behind a switch and is no value of it is named', async () => {
  const named = /^granary: .*\n {2}--nfsrootsquash must be true or false\n$/;
  assert.match(await typed('array volumes create --name q --nfsrootsquash maybe --pool main'), named);
  assert.match(await typed('array volumes create --name q --nfsrootsquash=maybe --pool main'), named);
});

test('an argument too many is named, with what the command takes', async () => {
  assert.equal(
    await typed('public-objects get 1 2'),
    'granary: 2 is more than the command takes:\n  Usage: granary public-objects get <array-id> [options]\n',
  );
  assert.match(await typed('user update --auto-approved 3 4'), /^granary: 4 is more than the command takes/);
});

test('an argument that is missing is named, with what it means', async () => {
  const err = await typed('array snapshots create --display-name noon');
  assert.match(
    err,
    /^granary: The command is not complete:\n {2}<volume-cg-id> is required: The volume's consistency group/,
  );
  assert.match(err, /\n {2}Usage: granary array snapshots create <volume-cg-id> --display-name <text> \[options\]\n$/);
});

test('an option before the words of its command says where it belongs', async () => {
  assert.equal(
    await typed('array --array tank volumes list'),
    'granary: --array stands behind the command: `granary array … --array …`.\n',
  );
  assert.match(await typed('array --nonesuch tank volumes list'), /unknown option '--nonesuch'/);
});

test('a command of an array that is typed without it is found', async () => {
  assert.equal(
    await typed('volumes list'),
    'granary: There is no command volumes; it may be `granary array volumes`.\n',
  );
  assert.match(await typed('policies list'), /`granary objects policies`/);
  assert.equal(
    await typed('public-objects list'),
    'granary: `granary public-objects` has no command list. It has create, update, get, delete.\n',
  );
  assert.match(await typed('arrays gett'), /Did you mean get\?/);
});

test('a wrong code of the authenticator app asks for no other sign-in', async (t) => {
  const message = 'The code is wrong or was used before; wait for the next one, and check the time of the device.';
  const portal = await fakePortal(t, { 'POST /me/totp/confirm': refused(401, message) });
  const { code, err } = await portal.run(['me', 'confirm-totp', '--code', '123456']);
  assert.deepEqual([code, err], [3, `granary: ${message}\n`]);
});

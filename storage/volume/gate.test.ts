import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Gate } from './gate.ts';

describe('a gate', () => {
  it('closes at once when nothing is under way', async () => {
    const gate = new Gate();
    await gate.close();
    assert.equal(gate.isOpen, false);
  });

  it('is not opened more often than it was closed, and no write leaves that did not enter', async () => {
    const gate = new Gate();
    assert.throws(() => gate.open(), /as often as it was closed/);
    assert.throws(() => gate.leave(), /leaves once/);
    await gate.close();
    assert.equal(gate.isOpen, false);
  });

  it('waits for every write under way before it counts as closed', async () => {
    const gate = new Gate();
    gate.enter();
    gate.enter();
    let closed = 0;
    const closing = [gate.close(), gate.close()].map((each) => each.then(() => closed++));
    assert.equal(gate.isOpen, false, 'newcomers wait from the first moment');
    gate.leave();
    await setImmediate();
    assert.equal(closed, 0);
    gate.leave();
    await Promise.all(closing);
    assert.equal(closed, 2);
  });

  it('stays closed until the last of nested closers opens it', async () => {
    const gate = new Gate();
    let through = false;
    await gate.close();
    await gate.close();
    const waiting = gate.whenOpen().then(() => (through = true));
    gate.open();
    await setImmediate();
    assert.deepEqual([gate.isOpen, through], [false, false]);
    gate.open();
    await waiting;
    assert.equal(gate.isOpen, true);
  });

  it('opens again also when the work behind it fails', async () => {
    const gate = new Gate();
    await assert.rejects(
      gate.closedWhile(() => Promise.reject(new Error('broken'))),
      /broken/,
    );
    assert.equal(gate.isOpen, true);
  });

  it('serves closer after closer while writes come and go', async () => {
    const gate = new Gate();
    let closings = 0;
    const writer = async (): Promise<void> => {
      for (let turn = 0; turn < 50; turn++) {
        while (!gate.isOpen) await gate.whenOpen();
        gate.enter();
        await setImmediate();
        gate.leave();
      }
    };
    const closer = async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn++) {
        await gate.closedWhile(() => closings++);
        await setImmediate();
      }
    };
    await Promise.all([writer(), writer(), writer(), closer(), closer()]);
    assert.equal(closings, 40);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InlineGate } from './inline-gate.ts';

describe('the gate for requests done on the spot', () => {
  it('stays open while they are quick', () => {
    const gate = new InlineGate(0.2);
    for (let nowMs = 0; nowMs < 100; nowMs += 1) {
      assert.ok(gate.allows(nowMs));
      gate.took(0.01, nowMs);
    }
  });

  it('closes after a slow one for 8 requests or 6 ms', () => {
    const gate = new InlineGate(0.2);
    gate.took(5, 0);
    for (let request = 1; request < 8; request += 1) assert.ok(!gate.allows(1));
    assert.ok(gate.allows(1));
    const other = new InlineGate(0.2);
    other.took(5, 0);
    assert.ok(!other.allows(5));
    assert.ok(other.allows(7));
  });

  it('stays closed for longer each time, until it has been quick for a while', () => {
    const gate = new InlineGate(0.2);
    gate.took(5, 0);
    assert.ok(gate.allows(7));
    gate.took(5, 7);
    assert.ok(!gate.allows(7 + 7));
    assert.ok(gate.allows(7 + 13));
    for (let quick = 0; quick < 40; quick += 1) gate.took(0.01, 30);
    gate.took(5, 30);
    assert.ok(gate.allows(37));
  });
});

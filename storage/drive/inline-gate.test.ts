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

  it('closes after a slow one for 64 requests or 50 ms', () => {
    const gate = new InlineGate(0.2);
    gate.took(5, 0);
    for (let request = 1; request < 64; request += 1) assert.ok(!gate.allows(1));
    assert.ok(gate.allows(1));
    const other = new InlineGate(0.2);
    other.took(5, 0);
    assert.ok(!other.allows(49));
    assert.ok(other.allows(51));
  });

  it('stays closed for longer each time, until it has been quick for a while', () => {
    const gate = new InlineGate(0.2);
    gate.took(5, 0);
    assert.ok(gate.allows(60));
    gate.took(5, 60);
    assert.ok(!gate.allows(60 + 60));
    assert.ok(gate.allows(60 + 101));
    for (let quick = 0; quick < 40; quick += 1) gate.took(0.01, 200);
    gate.took(5, 200);
    assert.ok(gate.allows(260));
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileGlob } from './glob.ts';

function matches(pattern: string, text: string): boolean {
  const match = compileGlob(pattern);
  assert.ok(typeof match === 'function', String(match));
  return match(text);
}

test('patterns are those of shells', () => {
  for (const [pattern, yes, no] of [
    ['*.log', ['a.log', '.log'], ['a.log2', 'a/b.log']],
    ['report-??.txt', ['report-01.txt'], ['report-1.txt', 'report-/1.txt']],
    ['[a-c]*[!0-9]', ['ax', 'b-'], ['d', 'a1']],
    ['[]x]', [']', 'x'], ['[']],
    ['\\*\\?', ['*?'], ['ab']],
    ['/a/*/c', ['/a/b/c'], ['/a/c', '/a/b/b/c']],
    ['/a/**/c', ['/a/c', '/a/b/c', '/a/b/b/c'], ['/a/bc', '/b/c']],
    ['**/*.tmp', ['/x.tmp', '/a/b/x.tmp', 'x.tmp'], ['/x.tmp/y']],
    ['/logs/**', ['/logs/', '/logs/a/b'], ['/logs']],
    ['', [''], ['a']],
    ['größe*', ['größe', 'größenwahn'], ['grosse']],
  ] as const) {
    for (const text of yes) assert.ok(matches(pattern, text), `${pattern} ${text}`);
    for (const text of no) assert.ok(!matches(pattern, text), `${pattern} ${text}`);
  }
});

test('a pattern that is none says why', () => {
  assert.match(String(compileGlob('[ab')), /^has a \[ without/);
  assert.match(String(compileGlob('ab\\')), /^ends in a/);
  assert.match(String(compileGlob('a'.repeat(129))), /^must have at most 128/);
});

/** Tries every way there is. */
function naive(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern[0] === '*') {
    for (let taken = 0; taken <= text.length; taken += 1) {
      if (text.slice(0, taken).includes('/')) break;
      if (naive(pattern.slice(1), text.slice(taken))) return true;
    }
    return false;
  }
  if (text === '') return false;
  return (pattern[0] === '?' ? text[0] !== '/' : pattern[0] === text[0]) && naive(pattern.slice(1), text.slice(1));
}

test('a match is what trying every way finds', () => {
  const characters = (...of: string[]) => fc.string({ unit: fc.constantFrom(...of), maxLength: 8 });
  fc.assert(
    fc.property(characters('a', 'b', '/', '*', '?'), characters('a', 'b', '/'), (pattern, text) => {
      fc.pre(!pattern.includes('**'));
      assert.equal(matches(pattern, text), naive(pattern, text));
    }),
  );
});

test('no pattern takes long: its work is bounded by the length of both', () => {
  // A backtracking matcher would not end before the sun does.
  const pattern = '*a'.repeat(63) + '*b';
  assert.ok(!matches(pattern, 'a'.repeat(4096)));
});

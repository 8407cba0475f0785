import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cellText, plainText } from './cells.ts';
import { drawRecord, drawRows, type Canvas, type Grid } from './table.ts';

const array = {
  description: null,
  engine: { name: 'Small', key: 'engine_small', specs: '1 vCPU' },
  drives: { SSD_10GB: 2, SSD_100GB: 1 },
  zones: ['zone_0', 'zone_1'],
};
const terminal: Canvas = { width: 120, boxes: true, colour: false };
const pipe: Canvas = { width: undefined, boxes: false, colour: false };
const arrays: Grid = {
  titles: ['id', 'name', 'attached to'],
  rows: [
    ['7', 'tank', ''],
    ['12', 'p', 'web-1'],
  ],
};

function widthOf(table: string): number {
  return Math.max(...table.split('\n').map((line) => line.length));
}

test('nested values are short: what one would type to name them', () => {
  assert.equal(cellText(array.engine), 'engine_small');
  assert.equal(cellText(array.drives), 'SSD_10GB=2, SSD_100GB=1');
  assert.equal(cellText(array.zones), 'zone_0, zone_1');
  assert.equal(cellText([{ key: 'a' }, { name: 'b' }, { id: 3 }]), 'a, b, 3');
  assert.equal(cellText([[1, 2], {}]), '2 items, ');
  assert.equal(cellText(null), '');
  assert.equal(cellText(false), 'false');
});

test('nothing that is shown can steer the terminal', () => {
  assert.equal(plainText('a\u001b[2Jb\u0007\u009b1mc\u202e'), 'a\ufffd[2Jb\ufffd\ufffd1mc\ufffd');
  assert.equal(plainText('two\r\n  lines\tand a tab'), 'two lines and a tab');
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.doesNotMatch(cellText(value), /[\u0000-\u001f\u007f-\u009f]/);
    }),
  );
});

test('a pipe gets columns two spaces apart, without boxes and without a limit', () => {
  assert.equal(drawRows(arrays, pipe).text, 'ID  NAME  ATTACHED TO\n7   tank\n12  p     web-1');
  const long = 'x'.repeat(300);
  assert.deepEqual(drawRows({ titles: ['name'], rows: [[long]] }, pipe), { text: `NAME\n${long}`, omitted: [] });
  assert.equal(
    drawRecord(
      [
        ['id', '7'],
        ['name', 'tank'],
      ],
      pipe,
    ),
    'id    7\nname  tank',
  );
});

test('at a terminal, columns that do not fit are left out, and named', () => {
  const { text, omitted } = drawRows(arrays, { ...terminal, width: 18 });
  assert.match(text, /│ 7 +│ tank │/);
  assert.deepEqual(omitted, ['attached to']);
});

test('a list is never wider than the terminal, and shows at least one column', () => {
  const grids = fc.integer({ min: 1, max: 8 }).chain((count) =>
    fc.tuple(
      fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: count, maxLength: count }),
      fc.array(fc.array(fc.stringMatching(/^[ -~]{0,60}$/), { minLength: count, maxLength: count }), {
        minLength: 1,
      }),
    ),
  );
  fc.assert(
    fc.property(grids, fc.integer({ min: 60, max: 200 }), ([titles, rows], width) => {
      const { text } = drawRows({ titles, rows }, { ...terminal, width });
      assert.ok(widthOf(text) <= width, `${widthOf(text)} > ${width}`);
    }),
  );
  assert.match(drawRows({ titles: ['name'], rows: [['x'.repeat(100)]] }, { ...terminal, width: 10 }).text, /name/);
});

test('one record is a field a row; long values wrap', () => {
  const table = drawRecord(
    [
      ['engine', 'engine_small'],
      ['note', 'word '.repeat(60)],
    ],
    { ...terminal, width: 60 },
  );
  assert.match(table, /│ engine +│ engine_small/);
  assert.ok(widthOf(table) <= 60);
  assert.equal(table.match(/word/g)?.length, 60);
});

test('a list in colour holds the same text', () => {
  const plain = drawRows(arrays, terminal).text;
  const coloured = drawRows(arrays, { ...terminal, colour: true }).text;
  assert.notEqual(coloured, plain);
  assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), plain);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cellText, plainText, shortCellText } from './cells.ts';
import { recordTable, rowsTable } from './table.ts';

const array = {
  description: null,
  status: 'created',
  name: 'tank',
  id: 7,
  engine: { name: 'Small', key: 'engine_small', specs: '1 vCPU' },
  drives: { SSD_10GB: 2, SSD_100GB: 1 },
  zones: ['zone_0', 'zone_1'],
  interfaces: [],
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
      assert.doesNotMatch(shortCellText(value), /[\u0000-\u001f\u007f-\u009f]/);
    }),
  );
});

test('a list shows the columns people look for first, and leaves out those that are empty', () => {
  const { text, omitted } = rowsTable([array, { ...array, id: 8, name: 'pond' }], { width: 200, colour: false });
  const [, head = '', , first = ''] = text.split('\n');
  assert.deepEqual(head.match(/\w+/g), ['id', 'name', 'status', 'engine', 'drives', 'zones']);
  assert.match(first, /7 +│ tank +│ created/);
  assert.deepEqual(omitted, ['description', 'interfaces']);
});

test('a list is never wider than the terminal, and shows at least one column', () => {
  const rows = fc.array(fc.dictionary(fc.stringMatching(/^[a-z]{1,12}$/), fc.string({ maxLength: 60 })), {
    minLength: 1,
  });
  fc.assert(
    fc.property(rows, fc.integer({ min: 60, max: 200 }), (records, width) => {
      const { text } = rowsTable(records, { width, colour: false });
      assert.ok(widthOf(text) <= width, `${widthOf(text)} > ${width}`);
    }),
  );
  assert.match(rowsTable([{ name: 'x'.repeat(100) }], { width: 10, colour: false }).text, /name/);
});

test('one record is a field a row; long values wrap, empty ones are left out', () => {
  const table = recordTable({ ...array, note: 'word '.repeat(60) }, { width: 60, colour: false });
  assert.match(table, /│ engine +│ engine_small/);
  assert.doesNotMatch(table, /description/);
  assert.ok(widthOf(table) <= 60);
  assert.equal(table.match(/word/g)?.length, 60);
});

test('a list in colour holds the same text', () => {
  const plain = rowsTable([array], { width: 120, colour: false }).text;
  const coloured = rowsTable([array], { width: 120, colour: true }).text;
  assert.notEqual(coloured, plain);
  assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), plain);
});

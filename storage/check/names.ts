import type { CheckContext } from './check-context.ts';

/** Every name refers to a layer, every layer to its parent, and every page of a map to its layer. */
export async function checkNames(check: CheckContext): Promise<void> {
  await checkReferences(check);
  await checkCircles(check);
  await checkShape(check);
}

async function checkReferences(check: CheckContext): Promise<void> {
  const { database } = check;
  const rows = (sql: string): { id: string | number; layer: number }[] => database.all(sql);
  for (const { id, layer } of rows('SELECT id, layer FROM volumes WHERE layer NOT IN (SELECT id FROM layers)')) {
    // There is no replacement: an empty layer would present zeros as the volume's data.
    await check.found(`Volume ${id} names layer ${layer}, which is not there`);
  }
  for (const { id, layer } of rows('SELECT id, layer FROM snapshots WHERE layer NOT IN (SELECT id FROM layers)')) {
    await check.found(`Snapshot ${id} names layer ${layer}, which is not there`, () => {
      check.change('DELETE FROM snapshots WHERE id = ?', id);
    });
  }
  const widowed = 'SELECT id, layer FROM snapshots WHERE volume NOT IN (SELECT id FROM volumes)';
  for (const { id } of rows(widowed)) {
    await check.found(`Snapshot ${id} is of a volume that is not there`, () => {
      check.change('DELETE FROM snapshots WHERE id = ?', id);
    });
  }
  const lost = 'SELECT DISTINCT layer AS id, layer FROM maps WHERE layer NOT IN (SELECT id FROM layers)';
  for (const { layer } of rows(lost)) {
    await check.found(`There is a map of layer ${layer}, which is not there`, () => {
      check.change('DELETE FROM maps WHERE layer = ?', layer);
    });
  }
  const orphans = 'SELECT id, parent AS layer FROM layers WHERE parent NOT IN (SELECT id FROM layers)';
  for (const { id, layer } of rows(orphans)) {
    await check.found(`Layer ${id} stands on layer ${layer}, which is not there`);
  }
  const mixed = `SELECT upper.id, upper.parent AS layer FROM layers upper JOIN layers lower ON lower.id = upper.parent
    WHERE upper.format = 'plain' AND lower.format = 'reduced'`;
  for (const { id, layer } of rows(mixed)) {
    await check.found(`Layer ${id} is plain and stands on layer ${layer}, which is reduced`);
  }
  const shared = `SELECT layer AS id, layer FROM
    (SELECT layer FROM volumes UNION ALL SELECT layer FROM snapshots) GROUP BY layer HAVING count(*) > 1`;
  for (const { layer } of rows(shared)) await check.found(`Layer ${layer} has more than one name`);
  const written = 'SELECT id, layer FROM volumes WHERE layer IN (SELECT parent FROM layers)';
  for (const { id, layer } of rows(written)) {
    await check.found(`Volume ${id} writes to layer ${layer}, on which others stand`);
  }
}

async function checkCircles(check: CheckContext): Promise<void> {
  const rows = check.database.all<{ id: number; parent: number | null }>('SELECT id, parent FROM layers');
  const parents = new Map(rows.map(({ id, parent }) => [id, parent]));
  const sound = new Set<number>();
  for (const { id } of rows) {
    const path = new Set<number>();
    let layer: number | null | undefined = id;
    while (layer !== null && layer !== undefined && !sound.has(layer) && !path.has(layer)) {
      path.add(layer);
      layer = parents.get(layer);
    }
    if (layer !== null && layer !== undefined && path.has(layer)) {
      await check.found(`Layer ${layer} stands on itself`);
    }
    for (const seen of path) sound.add(seen);
  }
}

const PAGE_BYTES = { plain: 1024, reduced: 2048 } as const;
const BLOCKS_BYTES = 2048;

async function checkShape(check: CheckContext): Promise<void> {
  const pages = check.database.iterate<PageShape>(
    `SELECT maps.layer, maps.page, length(entries) AS entries, length(blocks) AS blocks, format
     FROM maps JOIN layers ON layers.id = maps.layer`,
  );
  const odd: PageShape[] = [];
  for (const page of pages) {
    const right = page.entries === PAGE_BYTES[page.format] && (page.blocks === null || page.blocks === BLOCKS_BYTES);
    if (!right) odd.push(page);
  }
  for (const { layer, page } of odd)
    await check.found(`Page ${page} of the map of layer ${layer} has the wrong length`);
}

interface PageShape {
  readonly layer: number;
  readonly page: number;
  readonly entries: number;
  readonly blocks: number | null;
  readonly format: keyof typeof PAGE_BYTES;
}

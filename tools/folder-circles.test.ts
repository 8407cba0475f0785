import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderCircles } from './folder-circles.ts';

const circlesOf = (files: Readonly<Record<string, string>>, depth?: 'deep' | 'top') =>
  folderCircles(new Map(Object.entries(files)), 'room', depth).map((circle) =>
    circle.map(({ from, to }) => `${from} ${to}`).sort(),
  );

test('folders that import each other are a circle, also over types, several folders and root files', () => {
  const pair = {
    'room/pools/service.ts': `import type { Volume } from '../volumes/volume.ts';`,
    'room/volumes/service.ts': `import { Pools } from '../pools/service.ts';`,
    'room/volumes/volume.ts': '',
  };
  const edges = ['room/pools/service.ts room/volumes/volume.ts', 'room/volumes/service.ts room/pools/service.ts'];
  assert.deepEqual(circlesOf(pair), [edges]);
  const throughRoot = {
    'room/users/routes.ts': `import type { Handlers } from '../handlers.ts';`,
    'room/handlers.ts': `import type { Actor } from './access.ts';`,
    'room/access.ts': `export { Users } from './users/service.ts';`,
    'room/users/service.ts': '',
  };
  assert.equal(circlesOf(throughRoot)[0]?.length, 3);
  const lazily = {
    'room/start.ts': `const { start } = await import('./embedded/start.ts');`,
    'room/embedded/start.ts': `import {\n  type Setup,\n} from '../start.ts';`,
  };
  assert.equal(circlesOf(lazily)[0]?.length, 2);
});

test('imports in one direction, within a folder and from elsewhere are no circles', () => {
  const files = {
    'room/services.ts': `import { Volumes } from './volumes/service.ts';`,
    'room/tools.ts': `import type { Store } from '@granary/kernel';`,
    'room/volumes/service.ts': `import type { Tools } from '../tools.ts';\nimport { one } from './rules.ts';`,
    'room/volumes/rules.ts': `import { other } from '../../elsewhere/other.ts';`,
  };
  assert.deepEqual(circlesOf(files), []);
});

test('files of one folder and its own folders are looked at as well, unless only the top is asked for', () => {
  const files = {
    'room/jobs/service.ts': `import { view } from './view.ts';`,
    'room/jobs/view.ts': `import type { Shown } from './service.ts';`,
    'room/jobs/scans/scan.ts': `import { archive } from '../archive/archive.ts';`,
    'room/jobs/archive/archive.ts': `import type { Figures } from '../scans/scan.ts';`,
  };
  assert.equal(circlesOf(files).length, 2);
  assert.deepEqual(circlesOf(files, 'top'), []);
});

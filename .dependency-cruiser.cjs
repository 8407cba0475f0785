/**
 * Imports point one way: contract ← kernel ← {portal, cloud, array, objects} ← cli; contract ← client ← {portal, cli};
 * storage ← protocols ← {array, objects, cli}. Three parts of the kernel import nothing and stand under other packages as
 * well: `kernel/edge`, limits for unauthenticated clients, and `kernel/xml` under protocols; `kernel/sqlite`, the durable
 * store, under storage.
 */
const may = {
  contract: [],
  kernel: ['contract'],
  client: ['contract'],
  console: ['contract', 'client'],
  cloud: ['contract', 'kernel'],
  storage: [],
  protocols: ['storage'],
  array: ['contract', 'kernel', 'storage', 'protocols'],
  objects: ['contract', 'kernel', 'storage', 'protocols'],
  portal: ['contract', 'kernel', 'client'],
  cli: ['contract', 'kernel', 'client', 'portal', 'cloud', 'storage', 'protocols', 'array', 'objects', 'console'],
};
const rooms = Object.keys(may);
/** Parts of the kernel that these rooms may import. */
const parts = { protocols: '^kernel/(edge|xml)/', storage: '^kernel/sqlite/' };

const directions = rooms.map((room) => ({
  name: `${room}-imports-only-what-it-stands-on`,
  severity: 'error',
  from: { path: `^${room}/`, pathNot: ['\\.test\\.ts$', '/testing/'] },
  to: {
    path: `^(${rooms.filter((other) => other !== room && !may[room].includes(other)).join('|') || 'nothing'})/`,
    ...(room in parts && { pathNot: parts[room] }),
  },
}));

module.exports = {
  forbidden: [
    ...directions,
    ...Object.values(parts).map((part) => ({
      name: `${part.replace(/[^a-z]+/g, '-').slice(1, -1)}-imports-nothing`,
      severity: 'error',
      from: { path: part, pathNot: ['\\.test\\.ts$', '/testing/'] },
      to: { path: `^(${rooms.join('|')})/`, pathNot: part },
    })),
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      // Types, too: a folder whose services name each other's types cannot be read or changed alone.
      name: 'no-circles-of-types',
      severity: 'error',
      from: { path: '^objects/' },
      to: { circular: true },
    },
    {
      // In one folder, classes that belong together may name each other (a logical unit and its attachments).
      name: 'no-circles-of-types-across-folders',
      severity: 'error',
      from: { path: '^((?:portal|cloud|cli|client|contract|protocols).*/)[^/]+$' },
      to: { circular: true, via: { pathNot: '^$1[^/]+$' } },
    },
    {
      // What keeps an array's bytes is behind `Engine` and `ObjectEngine`: the rest of an array works with any engine.
      name: 'only-the-embedded-engine-imports-its-storage',
      severity: 'error',
      from: { path: '^(objects|protocols)/', pathNot: ['^objects/engine/embedded/', '\\.test\\.ts$', '/testing/'] },
      to: { path: '^storage/objects/', pathNot: '^storage/objects/interface\\.ts$' },
    },
    {
      // Engines are loaded by name: nothing else of an array names one.
      name: 'only-engine-start-loads-an-engine',
      severity: 'error',
      from: { path: '^objects/', pathNot: ['^objects/engine/(start\\.ts|embedded/)', '\\.test\\.ts$', '/testing/'] },
      to: { path: '^objects/engine/embedded/' },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          '\\.test\\.ts$',
          '\\.d\\.ts$',
          '(^|/)index\\.ts$',
          'main\\.ts$',
          '\\.c?js$',
          '^tools/',
          '^bench/',
          '^docs/',
          '/testing/',
        ],
      },
      to: {},
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'products-do-not-use-test-code',
      severity: 'error',
      from: { pathNot: ['\\.test\\.ts$', '/testing/', '/conformance/', '^tools/', '^bench/', '^e2e/'] },
      to: { path: ['\\.test\\.ts$', '(^|/)testing/'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['node_modules', 'granary-data', '^build/', '^docs/', '^storage/kernels/assembly/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.cjs', '.json'],
    },
  },
};

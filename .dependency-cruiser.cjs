/**
 * Imports point one way: contract ← kernel ← {portal, cloud, array, objects} ← cli; contract ← client ← {portal, cli};
 * storage ← protocols ← {array, objects, cli}. `kernel/edge`, what meets strangers, imports nothing; protocols use it too.
 */
const may = {
  contract: [],
  kernel: ['contract'],
  client: ['contract'],
  cloud: ['contract', 'kernel'],
  storage: [],
  protocols: ['storage'],
  array: ['contract', 'kernel', 'storage', 'protocols'],
  objects: ['contract', 'kernel', 'storage', 'protocols'],
  portal: ['contract', 'kernel', 'client'],
  cli: ['contract', 'kernel', 'client', 'portal', 'cloud', 'storage', 'protocols', 'array', 'objects'],
};
const rooms = Object.keys(may);

const directions = rooms.map((room) => ({
  name: `${room}-imports-only-what-it-stands-on`,
  severity: 'error',
  from: { path: `^${room}/`, pathNot: ['\\.test\\.ts$', '/testing/'] },
  to: {
    path: `^(${rooms.filter((other) => other !== room && !may[room].includes(other)).join('|') || 'nothing'})/`,
    ...(room === 'protocols' && { pathNot: '^kernel/edge/' }),
  },
}));

module.exports = {
  forbidden: [
    ...directions,
    {
      name: 'edge-imports-nothing',
      severity: 'error',
      from: { path: '^kernel/edge/', pathNot: '\\.test\\.ts$' },
      to: { path: `^(${rooms.join('|')})/`, pathNot: '^kernel/edge/' },
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
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
    exclude: { path: ['node_modules', 'granary-data', '^docs/', '^storage/kernels/assembly/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
      extensions: ['.ts', '.js', '.cjs', '.json'],
    },
  },
};

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GB, MB } from '@granary/kernel';
import { defaultConfig } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { cacheBytesOf, limitsOf } from './limits.ts';

const config = defaultConfig('linux');
const medium = { engine: 'engine_medium', app_engine: 'app_small', extra_cache_gb: 0 };
const LARGE_MACHINE = 1024 * GB;

/** What a config from before engines had sizes says. */
const unsized: Config = {
  ...config,
  engine_types: config.engine_types.map(({ vcpus: _, memory_mb: __, ...type }) => type),
};

test('processors and memory of both engines are the limits of the process', () => {
  assert.deepEqual(limitsOf(config, medium), { processors: 3, controllerHeapMb: 2048, managementHeapMb: 1024 });
  assert.deepEqual(limitsOf(config, { ...medium, engine: 'engine_large', app_engine: 'app_medium' }), {
    processors: 6,
    controllerHeapMb: 4096,
    managementHeapMb: 2048,
  });
  assert.deepEqual(limitsOf(config, { ...medium, app_engine: null }), { processors: 2, controllerHeapMb: 2048 });
});

test('an engine without a size, and object storage, which has no engine, set no limits', () => {
  assert.deepEqual(limitsOf(unsized, { ...medium, app_engine: null }), {});
  assert.deepEqual(limitsOf(config, { engine: null, app_engine: null, extra_cache_gb: 0 }), {});
});

test('an app engine with little or no memory leaves the management enough to start', () => {
  const withMemory = (memory_mb: number): Config => ({
    ...config,
    app_engines: config.app_engines.map((app) => ({ ...app, memory_mb })),
  });
  assert.equal(limitsOf(withMemory(64), medium).managementHeapMb, 256);
  assert.equal(limitsOf(withMemory(0), medium).managementHeapMb, undefined);
});

test('the included cache is half the memory of the engine, and what was bought comes on top', () => {
  assert.equal(cacheBytesOf(config, medium, LARGE_MACHINE), 2048 * MB);
  assert.equal(cacheBytesOf(config, { ...medium, extra_cache_gb: 200 }, LARGE_MACHINE), 2048 * MB + 200 * GB);
  assert.equal(cacheBytesOf(unsized, medium, LARGE_MACHINE), 40 * GB);
});

test('no array uses more than a quarter of the memory of its machine as cache', () => {
  assert.equal(cacheBytesOf(config, { ...medium, extra_cache_gb: 400 }, 16 * GB), 4 * GB);
  assert.equal(cacheBytesOf(config, medium, 4 * GB), GB);
});

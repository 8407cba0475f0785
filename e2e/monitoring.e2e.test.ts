import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isSigned, startReceiver } from '../kernel/webhooks/testing/receiver.ts';
import { until } from '../testing/waiting.ts';
import { attach, makePool, orderArray, type Ordered } from './block-array.ts';
import { freePort, startGranary, type Granary } from './granary.ts';
import { openAccount, orderObjects } from './object-account.ts';
import { ended, printed, skipWithoutProgram } from './programs.ts';

/**
 * Goal: what docs/monitoring gives people works: boards and rules ask for metrics that exist, in expressions that
 * Prometheus evaluates, and an alert fires when a drive fails.
 * Method: Debian's Prometheus scrapes a whole installation under the rules as they are checked in.
 */
const skip = await skipWithoutProgram('promtool', 'prometheus');
const DOCS = fileURLToPath(new URL('../docs/monitoring/', import.meta.url));
const RULES = join(DOCS, 'alerts.yml');
const BOARDS = ['portal', 'block-array', 'object-array'];
const SCRAPE_EVERY = '1s';

let folder: string;
let granary: Granary;
let tank: Ordered;
let urls: readonly string[];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  if (skip !== false) return;
  granary = await startGranary(join(folder, 'data'));
  const admin = await granary.admin();
  tank = await orderArray(admin, 'tank', { SSD_10GB: 3 });
  const { pool } = await makePool(tank.client, 'gold');
  const { vol_name: volume } = await tank.client.volumes.create({ name: 'books', pool, capacity: 1024, block: true });
  const { disk } = await attach(tank.client, volume);
  await disk.write(0, Buffer.alloc(2 ** 20, 1));
  const objects = await orderObjects(admin, 'depot', 4);
  await openAccount(objects, 'acme', 'ana');
  urls = [granary.url, tank.url, objects.url];
});

after(async () => {
  if (skip === false) await granary.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

test('metrics of every service follow the conventions of Prometheus', { skip }, async () => {
  const around = { cwd: folder, env: {} };
  for (const url of urls) {
    const file = join(folder, 'metrics.txt');
    writeFileSync(file, await metricsOf(url));
    const { code, stdout, stderr } = await ended('sh', ['-c', `promtool check metrics < ${file}`], around);
    assert.equal(`${stdout}${stderr}`.trim(), '', url);
    assert.equal(code, 0, url);
  }
});

test('boards and rules ask for what is there, and a failed drive raises its alert', { skip }, async (t) => {
  await printed('promtool', ['check', 'rules', RULES], { cwd: folder, env: {} });
  const prometheus = await startPrometheus();
  t.after(() => prometheus.stop());
  await until(async () => {
    const up = await prometheus.query('up');
    return up.length === urls.length && up.every(({ value }) => value[1] === '1');
  }, 'every service is scraped');
  const known = await prometheus.metricNames();
  const asked = [...BOARDS.flatMap(expressionsOfBoard), ...(await prometheus.ruleExpressions())];
  assert.ok(asked.length > 100);
  for (const expression of asked) {
    await prometheus.query(expression);
    const unknown = metricsIn(expression).filter((name) => !known.has(name));
    assert.deepEqual(unknown, [], expression);
  }
  assert.deepEqual(await prometheus.firing(), []);
  const { disks } = await tank.client.drives.list();
  const drive = disks.find(({ raid_group_name: group }) => group !== null)!.name;
  await tank.client.drives.takeOffline({ id: drive });
  const alert = await until(async () => {
    const firing = await prometheus.firing();
    return firing.find(({ labels }) => labels['alertname'] === 'GranaryDriveFailed');
  }, 'the alert fires');
  assert.deepEqual([alert.labels['drive'], alert.labels['severity']], [drive, 'warning']);
  assert.match(alert.annotations['summary'] ?? '', new RegExp(`^Drive ${drive} of .* is failed$`));
});

test('an event that a receiver did not accept is delivered after kill -9 and a new start', { skip }, async (t) => {
  const receiver = await startReceiver(t);
  receiver.status = 503;
  const admin = await granary.admin();
  const { secret } = await admin.webhooks.create({
    name: 'on-call',
    target_url: receiver.url,
    severity: 6,
    kinds: ['provider_group'],
  });
  await admin.providerGroups.create({ name: 'partners' });
  await until(() => receiver.requests() > 0);
  await granary.kill();
  receiver.status = 200;
  granary = await startGranary(join(folder, 'data'));
  await until(() => receiver.posted.length > 0);
  assert.deepEqual(receiver.titles(), ['Provider group partners was added.']);
  assert.ok(isSigned(receiver.posted[0]!, secret));
});

async function metricsOf(url: string): Promise<string> {
  return (await fetch(`${new URL(url).origin}/metrics`)).text();
}

interface Sample {
  readonly value: readonly [number, string];
}

interface Alert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Prometheus on loopback, scraping the installation under the rules of the docs. */
async function startPrometheus() {
  const address = `127.0.0.1:${await freePort()}`;
  const config = {
    global: { scrape_interval: SCRAPE_EVERY, evaluation_interval: SCRAPE_EVERY },
    rule_files: [RULES],
    scrape_configs: [{ job_name: 'granary', static_configs: [{ targets: urls.map((url) => new URL(url).host) }] }],
  };
  const file = join(folder, 'prometheus.yml');
  // YAML holds JSON.
  writeFileSync(file, JSON.stringify(config));
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn('prometheus', args, { stdio: 'ignore' });
  const ask = async <T>(path: string): Promise<T> => {
    const reply = await fetch(`http://${address}/api/v1/${path}`);
    const { status, data, error } = (await reply.json()) as { status: string; data: T; error?: string };
    assert.equal(status, 'success', `${decodeURIComponent(path)}: ${error}`);
    return data;
  };
  await until(
    () =>
      fetch(`http://${address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    'Prometheus is ready',
  );
  return {
    query: async (expression: string) =>
      (await ask<{ result: Sample[] }>(`query?query=${encodeURIComponent(expression)}`)).result,
    firing: async () => (await ask<{ alerts: Alert[] }>('alerts')).alerts.filter(({ state }) => state === 'firing'),
    /** Families without a series now are known by what is said of them. */
    metricNames: async () => {
      const families = Object.entries(await ask<Record<string, { type: string }[]>>('metadata'));
      const series = await ask<string[]>('label/__name__/values');
      const parts = ['_bucket', '_count', '_sum'];
      return new Set([
        ...series,
        ...families.flatMap(([name, [{ type } = { type: '' }]]) =>
          type === 'histogram' ? parts.map((part) => name + part) : [name],
        ),
      ]);
    },
    ruleExpressions: async () => {
      const { groups } = await ask<{ groups: { rules: { query: string }[] }[] }>('rules');
      return groups.flatMap(({ rules }) => rules.map(({ query }) => query));
    },
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Of every panel, and of the lists of a board's variables, as Grafana would send them. */
function expressionsOfBoard(name: string): string[] {
  const board = JSON.parse(readFileSync(join(DOCS, 'grafana', `${name}.json`), 'utf8')) as Board;
  const variables = board.templating.list.flatMap(({ definition }) => {
    const metric = /^label_values\((\w+), instance\)$/.exec(definition ?? '')?.[1];
    return metric === undefined ? [] : [metric];
  });
  const panels = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return [
    ...variables,
    ...panels.map((expr) => expr.replaceAll('$__rate_interval', '10s').replaceAll('$instance', '.*')),
  ];
}

interface Board {
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}

/** Names of metrics begin like ours, or like those of the process. */
function metricsIn(expression: string): string[] {
  const withoutTexts = expression.replaceAll(/"[^"]*"/g, '""');
  return [...withoutTexts.matchAll(/\b(?:granary|process|nodejs)_\w+|\bup\b/g)].map(([name]) => name);
}

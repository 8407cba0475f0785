import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../testing/waiting.ts';
import { Random } from '../testing/random.ts';
import { arrayFolder, ObjectArray, objectConfiguration, placeDrives, twoCopies } from './object-array.ts';
import { bytesOf, etagOf, sliceOf, type Slice } from './object-bytes.ts';

/**
 * Goal: metering, the usage report and the access log tell of the same requests, to the request and to the byte.
 * Method: a list of requests over S3 and Swift of which everything is known; what the array says of them is compared with
 * the list, and again after a restart.
 */
const { accounts, accessLogs, usageReports, settings, policies } = objectsApi.groups;
const GIGABYTE = 2 ** 30;
const INTERVAL = 3600;
/** Prices that make a byte, and a byte for a second, show in an amount of nine decimals. */
const RATE = 1000;
const MONTH_RATE = 100_000;

interface Expected {
  readonly action: string;
  /** Null for what is not about an object. */
  readonly class: 'put' | 'get' | 'delete' | null;
  readonly status: number;
  readonly bytesIn?: number;
  readonly bytesOut?: number;
  readonly bytesDeleted?: number;
  /** Where it is not what came in less what was deleted: parts count once they are an object. */
  readonly stored?: number;
}

/** When bytes came or went, at the earliest and at the latest. */
interface Moment {
  readonly bytes: number;
  readonly from: number;
  readonly to: number;
}

class Script {
  readonly done: Expected[] = [];
  readonly moments: Moment[] = [];
  readonly #array: ObjectArray;
  readonly #random = new Random(1);

  constructor(array: ObjectArray) {
    this.#array = array;
  }

  slice(size: number): Slice {
    return sliceOf(this.#random, size);
  }

  async s3(
    method: string,
    path: string,
    expected: Expected,
    more: Parameters<ReturnType<ObjectArray['s3']>['call']>[2] = {},
  ) {
    const from = Date.now();
    const answer = await this.#array.s3().call(method, path, more);
    assert.equal(answer.status, expected.status, answer.text);
    this.#note(expected, from);
    return answer;
  }

  async swift(method: string, path: string, expected: Expected, body?: Buffer): Promise<void> {
    const from = Date.now();
    const { dataUrl, accountId, token } = this.#array;
    const headers = { 'x-auth-token': token, connection: 'close' };
    const answer = await fetch(`${dataUrl}/v1/AUTH_${accountId}${path}`, { method, headers, ...(body && { body }) });
    await answer.arrayBuffer();
    assert.equal(answer.status, expected.status);
    this.#note(expected, from);
  }

  #note(expected: Expected, from: number): void {
    this.done.push(expected);
    const bytes = expected.stored ?? (expected.bytesIn ?? 0) - (expected.bytesDeleted ?? 0);
    if (bytes !== 0) this.moments.push({ bytes, from, to: Date.now() });
  }

  sum(of: 'bytesIn' | 'bytesOut' | 'bytesDeleted', kind?: Expected['class']): number {
    return this.done
      .filter((one) => kind === undefined || one.class === kind)
      .reduce((sum, one) => sum + (one[of] ?? 0), 0);
  }

  count(kind: Expected['class']): number {
    return this.done.filter((one) => one.class === kind).length;
  }

  /** Byte milliseconds until a time, at the least or at the most. */
  stored(until: number, isMost: boolean): number {
    return this.moments.reduce(
      (sum, { bytes, from, to }) => sum + bytes * (until - (bytes > 0 === isMost ? from : to)),
      0,
    );
  }
}

test('metering, usage report and access log agree with what was done, also after a restart', async (t) => {
  const folder = arrayFolder(t);
  const configuration = objectConfiguration(folder, placeDrives(folder, 'two-copies', [1, 2]), [twoCopies]);
  let array = await ObjectArray.start(configuration);
  await array.client.call(settings.setTransferPrices, {
    upload_rate_per_gb: `${RATE}`,
    download_rate_per_gb: `${RATE}`,
  });
  await array.client.call(policies.update, { name: 'policy-00000001', gb_per_month_cost: `${MONTH_RATE}` });
  const script = new Script(array);
  await s3Requests(script);
  await swiftRequests(script);
  // It is counted a moment later; what stays wrong is reported.
  const isTold = async () => {
    await agree(array, script);
    return true;
  };
  await until(() => isTold().catch(() => false), 'it is metered').catch(() => undefined);
  await agree(array, script);
  await array.stop();
  array = await ObjectArray.start(configuration);
  await agree(array, script);
});

async function s3Requests(script: Script): Promise<void> {
  await script.s3('PUT', '/photos', { action: 's3 CreateBucket', class: null, status: 200 });
  for (const [key, size] of [0, 1, 4_097, 700_001, 2_500_003].entries()) {
    const body = bytesOf([script.slice(size)]);
    await script.s3(
      'PUT',
      `/photos/k${key}`,
      { action: 's3 PutObject', class: 'put', status: 200, bytesIn: size },
      { body },
    );
    await script.s3('GET', `/photos/k${key}`, { action: 's3 GetObject', class: 'get', status: 200, bytesOut: size });
  }
  const range = { headers: { range: 'bytes=100-1099' } };
  await script.s3('GET', '/photos/k3', { action: 's3 GetObject', class: 'get', status: 206, bytesOut: 1000 }, range);
  await script.s3('HEAD', '/photos/k3', { action: 's3 HeadObject', class: 'get', status: 200 });
  await script.s3('GET', '/photos/none', { action: 's3 GetObject', class: 'get', status: 404 });
  await script.s3('GET', '/photos', { action: 's3 ListObjects', class: null, status: 200 });
  await script.s3('DELETE', '/photos/k2', {
    action: 's3 DeleteObject',
    class: 'delete',
    status: 204,
    bytesDeleted: 4_097,
  });
  const upload = { action: 's3 CreateMultipartUpload', class: 'put', status: 200 } as const;
  const uploadId = (await script.s3('POST', '/photos/parts', upload, { query: { uploads: '' } })).xml('UploadId') ?? '';
  const part = script.slice(300_007);
  await script.s3(
    'PUT',
    '/photos/parts',
    { action: 's3 UploadPart', class: 'put', status: 200, bytesIn: part.size, stored: 0 },
    { query: { uploadId, partNumber: '1' }, body: bytesOf([part]) },
  );
  const named = `<Part><PartNumber>1</PartNumber><ETag>${etagOf([part], false)}</ETag></Part>`;
  const body = `<CompleteMultipartUpload>${named}</CompleteMultipartUpload>`;
  const completed = { action: 's3 CompleteMultipartUpload', class: 'put', status: 200, stored: part.size } as const;
  await script.s3('POST', '/photos/parts', completed, { query: { uploadId }, body });
}

async function swiftRequests(script: Script): Promise<void> {
  await script.swift('PUT', '/music', { action: 'swift PUT container', class: null, status: 201 });
  for (const [key, size] of [1_001, 1_300_009].entries()) {
    const body = bytesOf([script.slice(size)]);
    const put = { action: 'swift PUT object', class: 'put', status: 201, bytesIn: size } as const;
    await script.swift('PUT', `/music/k${key}`, put, body);
    await script.swift('GET', `/music/k${key}`, {
      action: 'swift GET object',
      class: 'get',
      status: 200,
      bytesOut: size,
    });
  }
  const gone = { action: 'swift DELETE object', class: 'delete', status: 204, bytesDeleted: 1_001 } as const;
  await script.swift('DELETE', '/music/k0', gone);
}

async function agree(array: ObjectArray, script: Script): Promise<void> {
  const period = { id: array.accountId, service: 'proxy', subserver: 'object', interval: INTERVAL, count: 2 } as const;
  const { objects: iops } = await array.client.call(accounts.iops, period);
  const { objects: throughput } = await array.client.call(accounts.throughput, period);
  for (const kind of ['put', 'get', 'delete'] as const) {
    const bytes = { put: 'bytesIn', get: 'bytesOut', delete: 'bytesDeleted' } as const;
    assert.equal(total(iops.map((point) => point[`iops_${kind}`])), script.count(kind), `${kind}s`);
    const moved = total(throughput.map((point) => point[`throughput_${kind}`]));
    assert.equal(moved, script.sum(bytes[kind], kind), `bytes of ${kind}s`);
  }
  await agreeOnUsage(array, script);
  const { access_logs: entries } = await array.client.call(accessLogs.list, {});
  const logged = entries
    .filter(({ action }) => /^(s3|swift) /.test(action))
    .map(({ action, params }) => {
      const { status, bytes_in: bytesIn, bytes_out: bytesOut } = JSON.parse(params) as Record<string, number>;
      return `${action} ${status} ${bytesIn} ${bytesOut}`;
    });
  const known = script.done.map((one) => `${one.action} ${one.status} ${one.bytesIn ?? 0} ${one.bytesOut ?? 0}`);
  assert.deepEqual(logged.sort(), known.sort());
}

async function agreeOnUsage(array: ObjectArray, script: Script): Promise<void> {
  const from = Date.now();
  const { usage } = await array.client.call(usageReports.generate, {});
  const to = Date.now();
  const items = usage.account_usage_summary[0]?.usage_summary ?? [];
  const of = (type: string, subcategory?: string) =>
    items.find((item) => item.type === type && (subcategory ?? item.subcategory) === item.subcategory);
  const bytes = (subcategory: string) =>
    Math.round(((of('streaming-bytes', subcategory)?.billed_amount ?? 0) / RATE) * GIGABYTE);
  assert.equal(bytes('upload'), script.sum('bytesIn'));
  assert.equal(bytes('download'), script.sum('bytesOut'));
  assert.equal(of('object_count')?.billed_units, 6);
  assert.equal(of('container_count')?.billed_units, 2);
  const monthMs = daysOfMonth(new Date(to)) * 86_400_000;
  const stored = ((of('used_capacity')?.billed_amount ?? 0) / MONTH_RATE) * GIGABYTE * monthMs;
  // What is shown is rounded at the ninth decimal.
  const rounding = (1e-9 / MONTH_RATE) * GIGABYTE * monthMs;
  assert.ok(stored >= script.stored(from, false) - rounding, `${stored} of ${script.stored(from, false)}`);
  assert.ok(stored <= script.stored(to, true) + rounding, `${stored} of ${script.stored(to, true)}`);
}

function total(rates: readonly number[]): number {
  return Math.round(rates.reduce((sum, rate) => sum + rate * INTERVAL, 0));
}

function daysOfMonth(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}

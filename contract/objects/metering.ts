import type { TSchema } from 'typebox';
import { type Access, endpoint } from '../endpoint.ts';
import type { ErrorName } from '../errors.ts';
import { choice, integer, type Params, withDefault } from '../params.ts';
import { int, listOf, num, record } from '../records.ts';
import { envelope } from '../reply.ts';

const time = int('End of the interval, seconds since 1970');

export const IopsPoint = record('IopsPoint', {
  time,
  iops_put: num('Writes a second'),
  iops_delete: num('Deletions a second'),
  iops_get: num('Reads a second'),
});

export const LatencyPoint = record('LatencyPoint', {
  time,
  latency_put: num('Average time of a write, ms'),
  latency_delete: num('Average time of a deletion, ms'),
  latency_get: num('Average time of a read, ms'),
});

export const ThroughputPoint = record('ThroughputPoint', {
  time,
  throughput_put: num('Bytes written a second'),
  throughput_delete: num('Bytes deleted a second'),
  throughput_get: num('Bytes read a second'),
});

const CapacityPoint = record('CapacityPoint', {
  time: int('Seconds since 1970'),
  used_bytes: int('Bytes in use then; between two points it changed evenly'),
});

const period = {
  interval: withDefault(integer('Seconds that one point covers', { min: 10, max: 604_800 }), 60),
  count: withDefault(integer('Points to return, newest last', { min: 1, max: 1000 }), 20),
};

/** Where the numbers are taken, for everything but drives. */
export const proxyService = choice(['proxy'], 'Which service is measured');
/** The same for what only whole object requests are counted for. */
export const objectRequests = {
  service: proxyService,
  subserver: choice(['object'], 'Which requests of the service are measured'),
};

/** A bare `{objects: […]}`: metering has neither the `response` level nor a status. */
const points = <S extends TSchema>(point: S) => envelope({}, { objects: listOf(point) });

interface Metered<P extends Params> {
  /** What is measured, as a summary names it. */
  readonly subject: string;
  readonly access: Access;
  readonly params: P;
  readonly errors: readonly ErrorName[];
}

/** The three endpoints every measured resource has. */
export function metering<P extends Params>(path: string, { subject, access, params, errors }: Metered<P>) {
  const common = { access, params: { ...params, ...period }, errors };
  return {
    iops: endpoint('GET', `${path}/iops`, {
      ...common,
      summary: `Show the requests a second of ${subject} over time`,
      reply: points(IopsPoint),
    }),
    latency: endpoint('GET', `${path}/latency`, {
      ...common,
      summary: `Show the response times of ${subject} over time`,
      reply: points(LatencyPoint),
    }),
    throughput: endpoint('GET', `${path}/throughput`, {
      ...common,
      summary: `Show the bytes a second of ${subject} over time`,
      reply: points(ThroughputPoint),
    }),
  };
}

/** How much something held over time: what is on record, not what was asked for by intervals. */
export function capacityOverTime<P extends Params>(path: string, { subject, access, params, errors }: Metered<P>) {
  return endpoint('GET', `${path}/capacity`, {
    summary: `Show how much ${subject} held, from an hour apart to a day apart as it grows old, over two months`,
    access,
    params,
    reply: points(CapacityPoint),
    errors,
  });
}

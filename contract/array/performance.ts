import type { TProperties } from 'typebox';
import { endpoint } from '../endpoint.ts';
import type { ErrorName } from '../errors.ts';
import { integer, type Params, withDefault } from '../params.ts';
import { int, num, record } from '../records.ts';
import { response } from '../reply.ts';
import { signedIn } from './access.ts';
import { count } from './shared.ts';

const point = int('When it was measured, seconds since 1970');

export const IoPoint = record('IoPoint', {
  rd_iops: num('Reads a second'),
  rd_iotime: num('Milliseconds a read took'),
  rd_bandwidth: num('MB read a second'),
  rd_queue_len: num(),
  wrt_iops: num('Writes a second'),
  wrt_iotime: num('Milliseconds a write took'),
  wrt_bandwidth: num('MB written a second'),
  wrt_queue_len: num(),
  point,
});

export const ControllerPoint = record('ControllerPoint', {
  cpu_user: num('Percent'),
  cpu_system: num('Percent'),
  cpu_iowait: num('Percent'),
  cpu_idle: num('Percent'),
  mem_alloc: num('MB in use'),
  gb_wrt: num(),
  gb_rd: num(),
  zcache_data_dirty: num(),
  zcache_meta_dirty: num(),
  point,
});

export const CachePoint = record('CachePoint', {
  zcache_data_dirty: num(),
  zcache_meta_dirty: num(),
  zcache_data_clean: num(),
  zcache_meta_clean: num(),
  zcache_data_cb_util: num(),
  zcache_meta_cb_util: num(),
  zcache_data_read_hit: num(),
  zcache_meta_read_hit: num(),
  zcache_data_write_hit: num(),
  zcache_meta_write_hit: num(),
  point,
});

export const requiredInterval = integer('Seconds between two measurements', { min: 1, max: 604_800, example: 60 });
export const interval = withDefault(requiredInterval, 60);

interface PerformanceOptions<P extends Params, F extends TProperties> {
  readonly of: string;
  readonly params: P;
  readonly fields: F;
  readonly errors: readonly ErrorName[];
}

export function performance<P extends Params, F extends TProperties>(
  path: string,
  { of, params, fields, errors }: PerformanceOptions<P, F>,
) {
  return endpoint('GET', path, {
    summary: `Show the last 60 measurements of ${of}, oldest first`,
    access: signedIn,
    params,
    reply: response({ ...fields, count }),
    errors,
  });
}

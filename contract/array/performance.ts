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
  zcache_data_dirty: num('MB; 0, because data is written through to the drives'),
  zcache_meta_dirty: num('MB of checksums of RAID groups that the next flush writes'),
  point,
});

export const CachePoint = record('CachePoint', {
  zcache_data_dirty: num('MB; 0, because data is written through to the drives'),
  zcache_meta_dirty: num('MB of checksums of RAID groups that the next flush writes'),
  zcache_data_clean: num('MB of data that the caches of pools hold'),
  zcache_meta_clean: num('MB of checksums in memory that the drives have too'),
  zcache_data_cb_util: num('Percent of the caches of pools in use'),
  zcache_meta_cb_util: num('Percent of the room for checksums in use'),
  zcache_data_read_hit: num('Percent of the blocks read that were cached'),
  zcache_meta_read_hit: num('Percent of the pages of checksums looked up by reads that were in memory'),
  zcache_data_write_hit: num('Percent of the blocks written, in pools with a cache, that were cached'),
  zcache_meta_write_hit: num('Percent of the pages of checksums changed by writes that were in memory'),
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

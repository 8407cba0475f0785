import { endpoint, type Group } from '../endpoint.ts';
import { ForecastRecord } from '../forecasts.ts';
import { page } from '../params.ts';
import { int, listOf } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly } from './access.ts';

export const forecasts = {
  list: endpoint('GET', '/forecasts', {
    summary: 'Rank storage policies by when they will be full',
    access: adminOnly,
    params: page,
    reply: response({ forecasts: listOf(ForecastRecord), count: int() }),
  }),
} satisfies Group;

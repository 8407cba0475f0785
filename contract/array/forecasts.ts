import { endpoint, type Group } from '../endpoint.ts';
import { ForecastRecord } from '../forecasts.ts';
import { choice, optional, page } from '../params.ts';
import { listOf } from '../records.ts';
import { response } from '../reply.ts';
import { signedIn } from './access.ts';
import { count } from './shared.ts';

export const forecasts = {
  list: endpoint('GET', '/forecasts', {
    summary: 'Rank pools and volumes by when they will be full',
    access: signedIn,
    params: { kind: optional(choice(['pool', 'volume'], 'Only these')), ...page },
    reply: response({ forecasts: listOf(ForecastRecord), count }),
  }),
} satisfies Group;

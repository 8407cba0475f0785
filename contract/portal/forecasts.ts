import { endpoint, type Group } from '../endpoint.ts';
import { ForecastRecord } from '../forecasts.ts';
import { page } from '../params.ts';
import { int, listOf } from '../records.ts';
import { success } from '../reply.ts';
import { signedIn } from './access.ts';

export const forecasts = {
  list: endpoint('GET', '/forecasts', {
    summary: 'Rank arrays by when what is made of their drives will be full',
    access: signedIn,
    params: page,
    reply: success({ data: listOf(ForecastRecord), count: int() }),
  }),
} satisfies Group;

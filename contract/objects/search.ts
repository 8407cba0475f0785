import { endpoint, type Group } from '../endpoint.ts';
import { listOf } from '../records.ts';
import { response } from '../reply.ts';
import { FoundRecord, searchParams } from '../search.ts';
import { signedIn } from './access.ts';

export const search = {
  find: endpoint('GET', '/search', {
    summary: 'Find by a part of its name whatever the caller may see',
    access: signedIn,
    params: searchParams,
    reply: response({ results: listOf(FoundRecord) }),
  }),
} satisfies Group;

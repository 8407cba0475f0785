import { endpoint, type Group } from '../endpoint.ts';
import { choice, list, text } from '../params.ts';
import { listOf, str } from '../records.ts';
import { response } from '../reply.ts';
import { createdKinds, signedIn } from './access.ts';

const NAMES_MAX = 100;

/** What a client asks before it offers changes to a user below an administrator. */
export const creators = {
  find: endpoint('GET', '/creators/{kind}', {
    summary: 'Say which of these resources you may change because you created them; an administrator may change all',
    access: signedIn,
    params: {
      kind: choice(createdKinds, 'What the names are of'),
      names: list(text('Its name, as records show it', { max: 128, example: 'volume-00000001' }), 'Up to 100 names', {
        max: NAMES_MAX,
        example: ['volume-00000001', 'volume-00000002'],
      }),
    },
    reply: response({ names: listOf(str()) }),
  }),
} satisfies Group;

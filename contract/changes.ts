import { endpoint, type Access } from './endpoint.ts';
import { integer, optional } from './params.ts';
import { EVENT_STREAM, fileReply } from './reply.ts';

const SECONDS_MAX = 86_400;

/** Group of every service: a stream that says whose records changed, so that nobody has to ask again and again. */
export function changeEndpoints(signedIn: Access) {
  return {
    watch: endpoint('GET', '/changes', {
      summary: 'Stream the names of groups whose records change, and new events, as server-sent events',
      access: signedIn,
      params: {
        seconds: optional(
          integer('Ends after this many seconds; otherwise when the caller goes', { max: SECONDS_MAX, example: 10 }),
        ),
      },
      reply: fileReply(EVENT_STREAM),
      errors: ['too_many_streams'],
    }),
  };
}

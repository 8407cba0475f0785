import { objectsEventKinds } from '../event-kinds.ts';
import type { Group } from '../endpoint.ts';
import { response } from '../reply.ts';
import { webhookEndpoints } from '../webhooks.ts';
import { adminOnly } from './access.ts';

export const webhooks = webhookEndpoints({
  administrators: adminOnly,
  reply: response,
  kinds: objectsEventKinds,
}) satisfies Group;

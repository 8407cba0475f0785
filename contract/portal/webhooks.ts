import { portalEventKinds } from '../event-kinds.ts';
import type { Group } from '../endpoint.ts';
import { success } from '../reply.ts';
import { webhookEndpoints } from '../webhooks.ts';
import { adminOnly } from './access.ts';

export const webhooks = webhookEndpoints({
  administrators: adminOnly,
  reply: success,
  kinds: portalEventKinds,
}) satisfies Group;

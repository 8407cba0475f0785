import type { Group } from '../endpoint.ts';
import { optional } from '../params.ts';
import { bool, int } from '../records.ts';
import { success } from '../reply.ts';
import { sessionEndpoints } from '../sessions.ts';
import { ownerOnly, portalRoles, signedIn } from './access.ts';
import { credentials, totpCode } from './credentials.ts';

export const sessions = sessionEndpoints({
  signedIn,
  owners: ownerOnly,
  reply: success,
  roles: portalRoles,
  credentials: { ...credentials, code: optional(totpCode) },
  userFields: { user_id: int(), auto_approved: bool('Orders act at once instead of waiting for an administrator') },
  serviceFields: {},
  errors: ['code_needed', 'wrong_code', 'user_disabled'],
}) satisfies Group;

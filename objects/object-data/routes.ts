import { formatUtc } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import type { ObjectData } from './service.ts';

export function presignRoute(data: ObjectData): NonNullable<ObjectsHandlers<'users'>['presign']> {
  return (link, { actor }) => {
    const { url, expiresAt } = data.presign(actor, link);
    return { url, expires_at: formatUtc(expiresAt) };
  };
}

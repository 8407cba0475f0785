import { existsSync, writeFileSync } from 'node:fs';
import { newSecret } from '@granary/kernel';
import type { KnownRegistration } from './clouds/service.ts';
import type { Services } from './services.ts';

export interface FirstAdmin {
  /** Set only when the password was made up just now: it is shown once. */
  readonly password: string | undefined;
  /** Where the made-up password is kept; undefined when it came from outside. */
  readonly passwordFile: string | undefined;
}

/** The first start makes an administrator; later starts leave users alone. */
export async function ensureAdmin(
  { users }: Services,
  passwordFile: string,
  given: string | undefined,
): Promise<FirstAdmin> {
  const kept = existsSync(passwordFile) ? passwordFile : undefined;
  if (!users.isEmpty()) return { password: undefined, passwordFile: kept };
  const password = given ?? newSecret(12);
  // Written before the user is made: a crash in between leaves a file too many, never a user without a known password.
  if (given === undefined) writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flush: true });
  await users.create({ username: 'admin', password, role: 'admin', auto_approved: true });
  return given === undefined ? { password, passwordFile } : { password: undefined, passwordFile: undefined };
}

const LOCAL = 'local';

/** The cloud inside this process, and a provider that sells it, from the first start. */
export async function ensureLocalCloud(services: Services, place: Omit<KnownRegistration, 'name'>): Promise<void> {
  const { id, isNew } = await services.clouds.ensureLocal({ name: LOCAL, ...place });
  if (isNew || services.providers.isEmpty()) await services.providers.create({ name: LOCAL, key: LOCAL, cloud_id: id });
}

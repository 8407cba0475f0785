import { changeEndpoints } from '../changes.ts';
import { signedIn } from './access.ts';

export const changes = changeEndpoints(signedIn);

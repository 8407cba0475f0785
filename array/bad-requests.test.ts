import { testBadRequests } from '../kernel/process/testing/bad-requests.ts';
import { testedArray } from './testing/bad-requests.ts';

await testBadRequests(await testedArray());

import { testBadRequests } from '../kernel/process/testing/bad-requests.ts';
import { isOfSpace, testedArray } from './testing/bad-requests.ts';

// The other half is in space-bad-requests.seeded.test.ts: all of them would take too long in one file.
await testBadRequests(await testedArray(), (operation) => !isOfSpace(operation));

import { testBadRequests } from '../kernel/process/testing/bad-requests.ts';
import { isOfPeople, isOfSettings, testedObjects } from './testing/bad-requests.ts';

// The others are in people-bad-requests.seeded.test.ts and settings-bad-requests.seeded.test.ts: one file would take too long.
await testBadRequests(await testedObjects(), (operation) => !isOfPeople(operation) && !isOfSettings(operation));

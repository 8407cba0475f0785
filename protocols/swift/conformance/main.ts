import { writeFileSync } from 'node:fs';
import { conformancePage } from './page.ts';

writeFileSync(new URL('../../../docs/swift-conformance.md', import.meta.url), conformancePage());

import { runProgram } from '@granary/kernel';
import { startObjects } from './start.ts';

runProgram(startObjects);

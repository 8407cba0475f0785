export { GB, MB } from '@granary/kernel';

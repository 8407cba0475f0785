#!/usr/bin/env node
console.log('granary');

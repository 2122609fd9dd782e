// Types of host-lane.mjs for the tests.
import type { Browser } from 'playwright-core';

export function openBrowser(): Promise<Browser>;

import type { TestProject } from 'vitest/node'

import { buildIfStale } from '../../scripts/build.mjs'

/** Builds the program that tests start, and what it serves to browsers, where that is out of date. */
export async function setup(project: TestProject): Promise<void> {
  await buildIfStale()
  project.onTestsRerun(async () => void (await buildIfStale()))
}

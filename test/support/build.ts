import type { TestProject } from 'vitest/node'

import { buildIfStale } from '../../scripts/build.mjs'

/** Builds the program that tests start, and its browser files, if they are stale. */
export async function setup(project: TestProject): Promise<void> {
  await buildIfStale()
  project.onTestsRerun(async () => void (await buildIfStale()))
}

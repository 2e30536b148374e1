import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { workerTasks } from '../../../workers/tasks.ts'

test('the table of repairs in the documentation is that of the workers', () => {
  const path = fileURLToPath(new URL('../../../docs/architecture.md', import.meta.url))
  const [, rest = ''] = readFileSync(path, 'utf8').split('\n## Repairs\n')
  const [section = ''] = rest.split('\n#')
  const [, , ...rows] = section.split('\n').filter(line => line.startsWith('|'))
  const expected = workerTasks.flatMap(({ name, repairs }) =>
    repairs ? [`| ${repairs.when} | ${repairs.within} | ${repairs.mends} | ${name} |`] : []
  )
  expect(rows).toEqual(expected)
})

test('each task has a name of its own', () => {
  expect(new Set(workerTasks.map(({ name }) => name)).size).toBe(workerTasks.length)
})

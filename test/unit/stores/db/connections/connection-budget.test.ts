import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { countConnections } from '../../../../../src/stores/db/connections/connection-budget.ts'

test('four servers and two workers fit into the default of Postgres, and the documentation has the numbers', () => {
  const [server, workers] = [countConnections('server'), countConnections('workers')]
  // Of 100, three are reserved; others are for commands and simulations.
  expect(4 * server + 2 * workers).toBeLessThanOrEqual(97 - 9)
  const path = fileURLToPath(new URL('../../../../../docs/configuration.md', import.meta.url))
  const page = readFileSync(path, 'utf8')
  expect(page).toContain(`| \`npm run server\` | ${server}, each process`)
  expect(page).toContain(`| \`npm run workers\` | ${workers}, each process`)
  expect(page).toContain(`| \`npm start\` | ${server + workers}, and ${server} more`)
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { endWithUs } from './children.ts'

/** How long one choice of the AutoDJ takes, and a week of them; the command for operators measures both itself. */
export async function autodj(): Promise<void> {
  for (const words of [['--bench'], []]) {
    const command = fileURLToPath(new URL('../src/simulate/main.ts', import.meta.url))
    const child = spawn(process.execPath, ['--import', 'tsx', command, ...words], { stdio: 'inherit' })
    endWithUs(child)
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`the simulation ended with ${code}`)
  }
}

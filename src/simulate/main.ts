import { processContext } from '../embedded/command-context.ts'
import { simulateCommand } from './command.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads only the beginning has seen enough; files are written before.
  if (error.code === 'EPIPE') process.exit()
  throw error
})

process.exitCode = await simulateCommand(processContext)

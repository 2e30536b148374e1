import { processContext } from '../../platform/process/command-context.ts'
import { simulateCommand } from './command.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader closed the pipe, as head does. Files are written before.
  if (error.code === 'EPIPE') process.exit()
  throw error
})

process.exitCode = await simulateCommand(processContext)

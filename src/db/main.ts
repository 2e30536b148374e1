import { processContext } from '../runtime/command-context.ts'
import { migrateCommand } from './migrate-command.ts'

process.exitCode = await migrateCommand(processContext)

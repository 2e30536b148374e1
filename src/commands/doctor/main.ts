import { processContext } from '../../platform/process/command-context.ts'
import { doctorCommand } from './doctor-command.ts'

process.exitCode = await doctorCommand(processContext)

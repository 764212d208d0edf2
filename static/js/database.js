// The pages of the database: their forms say that an answer is awaited, and are sent once.
import { mountWaiting } from "./views/waiting.js";

mountWaiting(document);

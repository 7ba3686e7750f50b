"""The service that the SQLModel tutorial leads to: a sync endpoint, a session for each request, SQLite as it comes.

    python service_tutorial.py PORT DATABASE

https://sqlmodel.tiangolo.com/tutorial/fastapi/session-with-dependency/
"""

import sys
from collections.abc import Iterator
from typing import Annotated

import uvicorn
from fastapi import Depends, FastAPI  # type: ignore[import-not-found, unused-ignore]
from sqlmodel import Field, Session, SQLModel, create_engine

# More connections than FastAPI has threads: with the default of 15 the threads wait for each other, 30 s at a time, as
# soon as there are 64 clients, and a comparison would be too easy.
engine = create_engine(f"sqlite:///{sys.argv[2]}", connect_args={"check_same_thread": False}, pool_size=50)


class PlantBase(SQLModel):
    """The fields of a plant besides its id."""

    name: str
    tag: str | None = None


class Plant(PlantBase, table=True):
    """The table."""

    id: int | None = Field(default=None, primary_key=True)


class PlantCreate(PlantBase):
    """The body of the request."""

    id: int


class PlantPublic(PlantBase):
    """The body of the answer."""


def get_session() -> Iterator[Session]:
    """Yield a session for one request."""
    with Session(engine) as session:
        yield session


app = FastAPI()


@app.post("/plants", response_model=PlantPublic)  # type: ignore[untyped-decorator, unused-ignore]
def create_plant(*, session: Annotated[Session, Depends(get_session)], plant: PlantCreate) -> Plant:
    """Add a plant."""
    db_plant = Plant.model_validate(plant)
    session.add(db_plant)
    session.commit()
    session.refresh(db_plant)
    return db_plant


def main() -> None:
    """Make the table and serve."""
    SQLModel.metadata.create_all(engine)
    uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
